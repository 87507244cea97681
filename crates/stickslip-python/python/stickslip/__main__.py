"""``python -m stickslip`` is the command line."""

from ._program import main

if __name__ == "__main__":
    raise SystemExit(main())
