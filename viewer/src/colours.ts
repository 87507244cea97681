// Colours and marks: the table of the library (crates/stickslip/src/view/palette.rs), of which palette.json is a copy that a test keeps true.

import palette from "./palette.json";

export const colourNumber = (hex: string) => Number.parseInt(hex.slice(1), 16);
const modes = palette.modes.map((mode) => colourNumber(mode.colour));

export const [OPEN, STICK, SLIP] = modes;
export const IMPACT = colourNumber(palette.impact);
export const HELD = colourNumber(palette.held);

export const modeColour = (mode: number) => modes[mode] ?? OPEN;
export const css = (c: number) => `#${c.toString(16).padStart(6, "0")}`;

/** Areas of the energy ledger, in the order in which they are stacked. */
export const TERMS = palette.ledger;
/** Works from outside: with the energy at the start they are what the ledger adds up to. */
export const SUPPLIES = palette.supplies;
/** Areas of maps: ground, hatch and its colour for every verdict. */
export const regimeArea = (word: string) => palette.areas[(palette.regimes as Record<string, number>)[word] ?? 6];
export const curveColour = (k: number) => colourNumber(palette.curves[k].colour);

/** Colours of bodies: kinds of light blue, which leave the marks of contacts alone. */
export const BODIES = palette.bodies.map(colourNumber);

/** Dark blue to yellow: evenly lighter, also for those who do not see colours. */
const RAMP = palette.ramp.map(colourNumber);

export function ramp(share: number): [number, number, number] {
  const s = Math.min(1, Math.max(0, share)) * (RAMP.length - 1);
  const k = Math.min(RAMP.length - 2, Math.floor(s));
  const mix = (shift: number) => {
    const a = (RAMP[k] >> shift) & 255;
    const b = (RAMP[k + 1] >> shift) & 255;
    return (a + (b - a) * (s - k)) / 255;
  };
  return [mix(16), mix(8), mix(0)];
}
