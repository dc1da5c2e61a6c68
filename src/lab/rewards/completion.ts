/** What a model wrote after a prompt. `text`: without special tokens. `ids`: with the end token, if it was said. */
export type Completion = { readonly prompt: string; readonly text: string; readonly ids: readonly number[] };

/** The parts of a lower-cased text between its blanks: `happy,` is one word, and not `happy`. */
export function wordsBetweenBlanks(text: string): string[] {
  return text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
}

/** How often a text holds another, whatever the case, not counting what overlaps. `part`: not empty. */
export function occurrences(text: string, part: string): number {
  return text.toLowerCase().split(part.toLowerCase()).length - 1;
}
