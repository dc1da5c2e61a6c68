/** As `JSON.stringify` wants it: Infinity, which JSON lacks, is the text `infinite`; what is no number is nothing. */
export function reportReplacer(_key: string, value: unknown): unknown {
  if (value === Infinity) return 'infinite';
  return typeof value === 'number' && Number.isNaN(value) ? null : value;
}
