/** Why a text is no query. Stays within the reader: `readRunQuery` gives it as a value. */
export class QueryRefusal extends Error {
  readonly fix: string;
  readonly at: number;

  /** @param at Index of the character where it shows. */
  constructor(problem: string, fix: string, at: number) {
    super(problem);
    this.fix = fix;
    this.at = at;
  }
}
