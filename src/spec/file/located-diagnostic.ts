import type { LocatedDiagnostic, KeyPath, Place } from './diagnostic.js';

/** A mistake before it has its place in a text. Without keys it is about an option, which has no place. */
export type Diagnostic = {
  readonly keys: KeyPath | null;
  /** Characters of the text at `keys`. */
  readonly span?: Place;
  readonly problem: string;
  readonly fix: string;
};

/** Where mistakes go while work goes on. */
export type Report = (mistake: Diagnostic) => void;

/** Gives mistakes their places in one text. */
export function locatedDiagnostic(
  placeOf: (keys: KeyPath, span?: Place) => Place,
): (mistake: Diagnostic) => LocatedDiagnostic {
  return ({ keys, span, problem, fix }) => ({ place: keys && placeOf(keys, span), keys: keys ?? [], problem, fix });
}
