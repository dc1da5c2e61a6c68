/** The last part of a metric's name, which says most: `env/all/test/bits_known` → `bits_known`. */
export function shortKey(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1);
}
