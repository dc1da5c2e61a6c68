/** Parameters in one line: `lr=0.001 depth=4`. Those without a value are left out. */
export function parametersText(parameters: Readonly<Record<string, unknown>>): string {
  return Object.entries(parameters)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
}
