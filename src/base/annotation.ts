import * as z from 'zod';

/** What a person has noted of a run. `tags`: in the order in which they were added. */
export const Annotation = z.object({ starred: z.boolean(), tags: z.array(z.string()), note: z.string().nullable() });
export type Annotation = z.infer<typeof Annotation>;

/** Limits on the length of a tag and of a note, in characters, and on the number of tags: more than anyone needs. */
const LONGEST_TAG = 60;
const LONGEST_NOTE = 4000;
const MOST_TAGS = 32;

/** A tag may hold no character that has a meaning in the query language or in a shell. */
const tagPattern = /^(?![+-])[^\s,"'`()*\p{C}]+$/u;

const Tag = z.string().max(LONGEST_TAG).regex(tagPattern);

/**
 * A change of an annotation: absent fields stay as they are, and `note: null` removes the note. Tags are compared without regard to
 * case.
 */
export const AnnotationChange = z.object({
  starred: z.boolean().optional(),
  add: z.array(Tag).max(MOST_TAGS).optional(),
  remove: z.array(Tag).max(MOST_TAGS).optional(),
  note: z.string().max(LONGEST_NOTE).nullable().optional(),
});
export type AnnotationChange = z.infer<typeof AnnotationChange>;

/** The annotation of a run that has no star, tags or note. */
export const noAnnotation: Annotation = { starred: false, tags: [], note: null };

/** The annotation after a change; null: it is empty. Tags beyond the limit are not added. */
export function annotated(
  before: Annotation | null,
  { starred, add = [], remove = [], note }: AnnotationChange,
): Annotation | null {
  const old = before ?? noAnnotation;
  const removed = new Set(remove.map(folded));
  const tags = distinct([...old.tags, ...add]).filter((tag) => !removed.has(folded(tag)));
  const after = {
    starred: starred ?? old.starred,
    tags: tags.slice(0, MOST_TAGS),
    note: note === undefined ? old.note : emptyAsNull(note),
  };
  return after.starred || after.tags.length > 0 || after.note !== null ? after : null;
}

/** An annotation as read from a file, cut to the limits, since others may have written the file. Null: it is empty. */
export function boundedAnnotation({ starred, tags, note }: Annotation): Annotation | null {
  const short = tags.map((tag) => tag.slice(0, LONGEST_TAG)).filter((tag) => tag.trim() !== '');
  return annotated(null, { starred, add: short, note: note === null ? null : note.slice(0, LONGEST_NOTE) });
}

/** What is wrong with a tag, in words; null: it is valid. */
export function tagProblem(tag: string): string | null {
  if (tag === '') return 'it is empty';
  if (tag.length > LONGEST_TAG) return `it has more than ${LONGEST_TAG} characters`;
  return tagPattern.test(tag) ? null : 'a tag is one word, without commas, quotes, parentheses and *';
}

/** What is wrong with a note, in words; null: it is valid. */
export function noteProblem(note: string): string | null {
  return note.length > LONGEST_NOTE ? `it has ${note.length} characters; the limit is ${LONGEST_NOTE}` : null;
}

/** `★ good, baseline`, as one cell of a table; empty: neither star nor tags. */
export function tagsText(annotation: Annotation | null | undefined): string {
  if (annotation === null || annotation === undefined) return '';
  return [annotation.starred ? STAR : '', annotation.tags.join(', ')].filter((part) => part !== '').join(' ');
}

/** Marks a starred run in lists. */
export const STAR = '★';

function emptyAsNull(note: string | null): string | null {
  return note === null || note.trim() === '' ? null : note;
}

function distinct(tags: readonly string[]): string[] {
  const known = new Map<string, string>();
  for (const tag of tags) if (!known.has(folded(tag))) known.set(folded(tag), tag);
  return [...known.values()];
}

function folded(tag: string): string {
  return tag.toLowerCase();
}
