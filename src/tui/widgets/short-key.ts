/** The end of a metric's name says the most: `env/all/test/bits_known` → `bits_known`. */
export function shortKey(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1);
}
