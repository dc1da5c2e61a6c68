import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  annotated,
  type Annotation,
  AnnotationChange,
  boundedAnnotation,
  noAnnotation,
  tagProblem,
  tagsText,
} from '../../src/base/annotation.js';

const good: Annotation = { starred: true, tags: ['good'], note: 'the best' };

describe('an annotation', () => {
  it.each<[string, Annotation | null, AnnotationChange, Annotation | null]>([
    ['begins with a star', null, { starred: true }, { ...noAnnotation, starred: true }],
    ['keeps what is not spoken of', good, { add: ['new'] }, { ...good, tags: ['good', 'new'] }],
    ['has a tag once, however it is written', good, { add: ['GOOD', 'b', 'B'] }, { ...good, tags: ['good', 'b'] }],
    ['loses a tag, however it is written', good, { remove: ['Good'] }, { ...good, tags: [] }],
    ['does not get a tag that is removed at once', null, { add: ['a'], remove: ['a'] }, null],
    ['has another note in place of the old one', good, { note: 'worse' }, { ...good, note: 'worse' }],
    ['has no note of blanks', good, { note: ' \n' }, { ...good, note: null }],
    ['is nothing once nothing is left of it', good, { starred: false, remove: ['good'], note: null }, null],
  ])('%s', (_, before, change, after) => {
    expect(annotated(before, change)).toEqual(after);
  });

  it('is within its limits, whatever a file says, and stays as it is when it is read again', () => {
    const anything = fc.record({
      starred: fc.boolean(),
      tags: fc.array(fc.string({ unit: 'binary', maxLength: 200 }), { maxLength: 60 }),
      note: fc.option(fc.string({ unit: 'binary', maxLength: 6000 })),
    });
    fc.assert(
      fc.property(anything, (written) => {
        const read = boundedAnnotation(written);
        expect(read?.tags.length ?? 0).toBeLessThanOrEqual(32);
        expect(Math.max(0, ...(read?.tags ?? []).map((tag) => tag.length))).toBeLessThanOrEqual(60);
        expect(read?.note?.length ?? 0).toBeLessThanOrEqual(4000);
        if (read !== null) expect(boundedAnnotation(read)).toEqual(read);
      }),
    );
  });

  it('takes from the wire what the command line takes as a tag, and nothing else', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 70 }), (tag) => {
        expect(AnnotationChange.safeParse({ add: [tag] }).success).toBe(tagProblem(tag) === null);
      }),
    );
    expect(['good', 'lr=1e-3', 'größer', 'v2.1', 'a:b'].map(tagProblem)).toEqual(Array(5).fill(null));
    expect(
      ['', '-a', '+a', 'a b', 'a,b', 'a*', '"a"', 'a\u001b[31m'].filter((tag) => tagProblem(tag) === null),
    ).toEqual([]);
  });

  it('is one word of a table', () => {
    expect([good, { ...good, starred: false, tags: ['a', 'b'] }, null].map(tagsText)).toEqual(['★ good', 'a, b', '']);
  });
});
