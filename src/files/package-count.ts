import { readIfThere } from './run-record-file.js';

/** How many packages a file of `code/packages-….json` lists; null when it cannot be read or lists none. */
export function packageCount(path: string): number | null {
  const text = readIfThere(path);
  if (text === null) return null;
  try {
    const { python, node } = JSON.parse(text) as Record<string, { packages?: Record<string, string> } | undefined>;
    const listed = [python, node].filter((side) => typeof side?.packages === 'object' && side.packages !== null);
    return listed.length === 0 ? null : listed.reduce((sum, side) => sum + Object.keys(side!.packages!).length, 0);
  } catch {
    return null;
  }
}
