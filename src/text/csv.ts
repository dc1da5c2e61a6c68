export type CsvValue = string | number | boolean | null | undefined;

/**
 * One line of a CSV file (RFC 4180), without its end. A missing value is an empty field and an empty text is `""`, so that they can
 * be told apart. Infinities are `inf` and `-inf`, as in numpy and pandas. No library is used, as setting one up for this takes as
 * many lines.
 */
export function csvLine(values: readonly CsvValue[]): string {
  return values.map(csvField).join(',');
}

function csvField(value: CsvValue): string {
  if (value === null || value === undefined) return '';
  const text = value === Infinity ? 'inf' : value === -Infinity ? '-inf' : String(value);
  return text === '' || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
