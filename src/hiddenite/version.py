"""The version, for all that must not import the whole package."""

VERSION = "0.1.0"
