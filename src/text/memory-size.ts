const MIB = 2 ** 20;
const units: Readonly<Record<string, number>> = { MB: 1e6, GB: 1e9, MIB: MIB, GIB: 2 ** 30 };

/** MiB of `20GB`, `800 MB`, `20GiB` or `800MiB`; null for any other text. A GB is 10^9 bytes, a GiB 2^30. */
export function parseMemory(text: string): number | null {
  const [, number, unit] = /^(\d+(?:\.\d+)?) ?([mg]i?b)$/i.exec(text) ?? [];
  return unit === undefined ? null : (Number(number) * units[unit.toUpperCase()]!) / MIB;
}

/** `20 GiB`, `800 MiB`. */
export function memoryText(mebibytes: number): string {
  const large = mebibytes >= 1024;
  return `${Number((large ? mebibytes / 1024 : mebibytes).toPrecision(3))} ${large ? 'GiB' : 'MiB'}`;
}
