import { type AnnotationChange, noteProblem, tagProblem } from '../../../base/annotation.js';
import { cleanText, shortened } from '../../../text/display-text.js';
import type { KeyContext } from '../../keys/key-context.js';
import type { UiState } from '../../state/ui-state.js';
import { open, type PaletteEntry, problem, type Reading } from './palette-entry.js';
import { chosenBy, countedRuns, namesOf } from './palette-runs.js';

/** Commands that annotate runs: those of a query, otherwise the marked ones, otherwise the selection. */
export const annotationEntries: readonly PaletteEntry[] = [
  {
    ...{ name: 'star', takes: '[runs]', help: 'star runs; clean leaves them alone', command: 'star', words: null },
    queryAt: () => 0,
    read: (rest, ui, at) => reading('star', 'Starring', rest, { ui, at, change: { starred: true } }),
  },
  {
    ...{ name: 'unstar', takes: '[runs]', help: 'take the stars of runs away', command: null, words: null },
    queryAt: () => 0,
    read: (rest, ui, at) => reading('unstar', 'Unstarring', rest, { ui, at, change: { starred: false } }),
  },
  {
    ...{
      name: 'tag',
      takes: '+tag -tag [runs]',
      help: 'add tags to runs, and remove tags',
      command: null,
      words: null,
    },
    queryAt: (rest) => /^\s*(?:[+-]\S*\s+)*/.exec(rest)![0].length,
    read: readTags,
  },
  {
    ...{ name: 'note', takes: 'text', help: 'write a note on the marked runs or the selection', command: null },
    ...{ words: null, queryAt: null, read: readNote },
  },
  {
    ...{ name: 'remove-note', takes: '[runs]', help: 'remove the notes of runs', command: null, words: null },
    queryAt: () => 0,
    read: (rest, ui, at) =>
      reading('remove the note of', 'Removing the note of', rest, { ui, at, change: { note: null } }),
  },
];

function readTags(rest: string, ui: UiState, at: KeyContext): Reading {
  const signed = /^\s*((?:[+-]\S*\s*)*)/.exec(rest)![1]!.trim();
  if (signed === '') return open(`tag: which tags, for example +good -bad; then which runs.${known(at)}`);
  const words = signed.split(/\s+/);
  for (const word of words) {
    const wrong = tagProblem(word.slice(1));
    if (wrong !== null) return problem(`${cleanText(shortened(word))} is not a tag: ${wrong}.`);
  }
  const having = (sign: string) => words.filter((word) => word.startsWith(sign)).map((word) => word.slice(1));
  const query = rest.slice(rest.indexOf(signed) + signed.length);
  return reading(`tag ${signed}:`, 'Tagging', query, { ui, at, change: { add: having('+'), remove: having('-') } });
}

/** Existing tags, so that users need not remember them. */
function known({ runs }: KeyContext): string {
  const tags = [...new Set(runs.flatMap(({ annotation }) => annotation?.tags ?? []))];
  return tags.length === 0 ? '' : ` There are ${cleanText(shortened(tags.join(', ')))}.`;
}

function readNote(rest: string, ui: UiState, at: KeyContext): Reading {
  const text = rest.trim();
  if (text === '') return open(`note: the text. ${present(ui, at)}`);
  const wrong = noteProblem(text);
  if (wrong !== null) return problem(`note: ${wrong}.`);
  return reading('note on', 'Writing a note on', '', { ui, at, change: { note: text } });
}

/** The runs that will be annotated, and their current annotation. */
function present(ui: UiState, at: KeyContext): string {
  const chosen = chosenBy('', ui, at);
  if (chosen.kind === 'problem') return chosen.said;
  const notes = [...new Set(chosen.runs.flatMap(({ annotation }) => annotation?.note ?? []))];
  const now =
    notes.length === 0 ? '' : notes.length === 1 ? ` now: ${cleanText(shortened(notes[0]!))}` : ' several now';
  return `For ${countedRuns(chosen)};${now === '' ? ' none yet' : now}.`;
}

type Change = { readonly ui: UiState; readonly at: KeyContext; readonly change: AnnotationChange };

function reading(words: string, doing: string, query: string, { ui, at, change }: Change): Reading {
  const chosen = chosenBy(query, ui, at);
  if (chosen.kind === 'problem') return chosen;
  const ids = chosen.runs.map(({ id }) => id);
  const what = countedRuns(chosen);
  return {
    kind: 'ready',
    said: `${words} ${namesOf(chosen.runs)}`,
    act: (now) => ({ ui: now, order: { type: 'annotate', ids, change, doing: `${doing} ${what}` } }),
  };
}
