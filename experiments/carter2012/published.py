"""What Carter, Dymetman & Bouchard (2012) give in tables and figures."""

PAPER_NGRAMS = {"1": 7868, "2": 615, "3": 231, "4": 176, "5": 118}
PAPER_FULL = 3.0e15
PAPER_SAMPLING = {"trials": {3: 658.16, 4: 683.3, 5: 700.9}, "states": {3: 1139.5, 4: 1494.0, 5: 1718.3}}
PAPER_BATCHES = {  # B: seconds, trials
    "1": (97.5, 453), "10": (19.9, 456), "20": (15.0, 480), "30": (13.9, 516), "40": (12.8, 536),
    "50": (12.5, 568), "100": (11.4, 700),
}  # fmt: skip
PAPER_PATHS = [
    ("1", "does the money exist )", -0.11, -17.42),
    ("50", "does the owned exist .", -11.71, -23.54),
    ("100", "ends the money exist .", -12.76, -17.09),
    ("150", "does vis money exist .", -13.45, -23.74),
    ("170", "does the money exist .", -13.70, -13.70),
]
PAPER_SAMPLES = [
    ("does the money exist .", 429, -13.70),
    ("does the money exist ?", 211, -14.51),
    ("does the money exist !", 72, -15.49),
    ("does the moody exist .", 45, -15.70),
    ("does the money exist :", 25, -16.73),
]
PAPER_BEST_ORDER, PAPER_ACCURACY = 5, 95.94
