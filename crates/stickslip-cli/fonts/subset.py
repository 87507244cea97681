"""Makes the two fonts of this folder from Liberation Sans 2.1.5 (see README.md): `python subset.py FOLDER_OF_LIBERATION`."""

import sys
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

NAME = "Stickslip Sans"
RANGES = [
    (0x20, 0x7E),  # Latin
    (0xA0, 0x17F),  # Latin with accents
    (0x2C6, 0x2DD),  # accents
    (0x370, 0x3FF),  # Greek
    (0x2010, 0x2044),  # dashes, quotes, primes, ellipsis
    (0x2070, 0x2094),  # raised and lowered digits
    (0x2190, 0x2195),  # arrows
    (0x2200, 0x2265),  # mathematical signs
    (0x25A0, 0x25CF),  # squares, triangles, discs
]


def make(source: Path, weight: str) -> None:
    options = subset.Options(hinting=False, layout_features=[], name_IDs=["*"], notdef_outline=True, glyph_names=False)
    options.drop_tables += ["GPOS", "GSUB", "GDEF", "kern", "FFTM", "DSIG"]
    font = TTFont(source / f"LiberationSans-{weight}.ttf")
    maker = subset.Subsetter(options)
    maker.populate(unicodes=[c for low, high in RANGES for c in range(low, high + 1)])
    maker.subset(font)
    names = font["name"]
    copyright_ = names.getDebugName(0)
    licence, address = names.getDebugName(13), names.getDebugName(14)
    names.names = []
    full = NAME if weight == "Regular" else f"{NAME} {weight}"
    told = f"A subset of Liberation Sans 2.1.5, renamed as its licence asks. {copyright_}"
    for number, text in [(0, told), (1, NAME), (2, weight), (3, f"{full} 1"), (4, full), (5, "Version 1"), (6, full.replace(" ", "-")), (13, licence), (14, address)]:
        names.setName(text, number, 3, 1, 0x409)
    font.save(f"stickslip-sans-{weight.lower()}.ttf")


for weight in ["Regular", "Bold"]:
    make(Path(sys.argv[1]), weight)
