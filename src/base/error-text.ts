/** What a caught thing says of itself, whatever it is. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
