/** What one bench of one build has printed. */
type Output = { readonly name: string; readonly text: string };
type Build = { readonly name: string; readonly rounds: readonly (readonly Output[])[] };

export function isInTable(bench: string): boolean;
export function tableLines(names: readonly string[], builds: readonly Build[]): string[];
export function writeTable(page: string, lines: readonly string[]): void;
