"""Word lattices: what a recogniser leaves open, read from its files, written in those of other tools."""

from hiddenite.lattice.formats import FORMATS as FORMATS
from hiddenite.lattice.formats import read_lattices as read_lattices
from hiddenite.lattice.formats import write_lattices as write_lattices
from hiddenite.lattice.lattice import Edge as Edge
from hiddenite.lattice.lattice import Lattice as Lattice
from hiddenite.lattice.lattice import Scales as Scales
