/** More of a text than this tells a reader no more, characters. */
const MOST = 120;

/** The beginning of a text that a person or a program gave, to be quoted in a sentence about it. */
export function shortened(text: string): string {
  return text.length <= MOST ? text : `${text.slice(0, MOST - 1)}…`;
}
