export type CsvValue = string | number | boolean | null | undefined;

/**
 * One line of a CSV file (RFC 4180), without its end. Nothing is an empty field, and an empty text is `""`, so that they can be
 * told apart. Infinities are `inf` and `-inf`, as numpy and pandas have them. By hand: to tell a library so takes as many lines, and fourteen times the bytes.
 */
export function csvLine(values: readonly CsvValue[]): string {
  return values.map(csvField).join(',');
}

function csvField(value: CsvValue): string {
  if (value === null || value === undefined) return '';
  const text = value === Infinity ? 'inf' : value === -Infinity ? '-inf' : String(value);
  return text === '' || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
