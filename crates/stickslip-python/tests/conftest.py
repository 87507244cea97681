"""Common parts of the tests."""

import matplotlib

matplotlib.use("Agg")
