// One table of colours and marks, those of crates/stickslip-cli/src/plot/style.rs; all are told apart without seeing colours by line style.

export const STICK = 0x0072b2;
export const SLIP = 0xd55e00;
export const CLOSED = 0x008060;
export const IMPACT = 0xaa4480;
export const OPEN = 0x8a8a8a;

export const modeColour = (mode: number) => [OPEN, STICK, SLIP, CLOSED][mode] ?? OPEN;
export const css = (c: number) => `#${c.toString(16).padStart(6, "0")}`;

/** Terms of the energy ledger, in the order in which they are stacked. */
export const TERMS: { columns: string[]; label: string; colour: string; hatch: "" | "rising" | "falling" | "dots" }[] = [
  { columns: ["kinetic"], label: "kinetic", colour: "#0072b2", hatch: "" },
  { columns: ["potential"], label: "potential", colour: "#56b4e9", hatch: "" },
  { columns: ["energy.contact_tangential"], label: "taken by friction", colour: "#e66900", hatch: "rising" },
  { columns: ["energy.contact_normal"], label: "taken by impacts", colour: "#aa3377", hatch: "falling" },
  { columns: ["energy.damping"], label: "taken by damping", colour: "#8a8a8a", hatch: "dots" },
  {
    columns: ["energy.numerical_mass", "energy.numerical_stiffness", "energy.potential_defect", "energy.covariant_defect", "energy.projection"],
    label: "taken by the scheme",
    colour: "#ddaa33",
    hatch: "rising",
  },
];

/** Colours of bodies: kinds of light blue and sand, which leave the marks of contacts alone. */
export const BODIES = [0x9fb8d6, 0xb9cbe0, 0x8aa6c8, 0xc9d5e4, 0xa9bfd9];

/** Dark blue to yellow: evenly lighter, also for those who do not see colours (a short table of viridis). */
const RAMP = [0x440154, 0x472d7b, 0x3b528b, 0x2c728e, 0x21918c, 0x28ae80, 0x5ec962, 0xaddc30, 0xfde725];

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
