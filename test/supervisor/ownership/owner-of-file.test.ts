import { expect, it } from 'vitest';
import type { RunId } from '../../../src/base/ids.js';
import { type FileFacts, type Life, ownerOf } from '../../../src/supervisor/ownership/owner-of-file.js';

const [a, b] = ['s/a', 's/b'] as RunId[] as [RunId, RunId];
const life = (id: RunId, from: number, to: number | null, since = from): Life => ({ id, attempt: 1, since, from, to });
const facts = (known: Partial<FileFacts>): FileFacts => ({
  ...{ born: 2000, changed: 3000, openers: new Map(), writer: null, named: null, inFolderOf: null, withTheirOwn: [] },
  ...{ lives: [life(a, 1000, null)], owner: null },
  ...known,
});
const both = [life(a, 1000, null), life(b, 1100, null)];
const seen = (...runs: [RunId, number][]) => new Map(runs);

it.each<{ when: string; known: Partial<FileFacts>; verdict: object }>([
  { when: 'it appears while one run is alone', known: {}, verdict: { kind: 'own', id: a, by: 'alone' } },
  { when: 'it was there before the run', known: { born: 500 }, verdict: { kind: 'unknown' } },
  { when: 'the file system knows no births', known: { born: null }, verdict: { kind: 'unknown' } },
  { when: 'nobody was up', known: { lives: [life(a, 5000, null)] }, verdict: { kind: 'unknown' } },
  { when: 'two were up', known: { lives: both }, verdict: { kind: 'either', ids: [a, b] } },
  {
    when: 'the other had ended before',
    known: { lives: [life(b, 100, 1500), life(a, 1600, null)] },
    verdict: { kind: 'own', id: a, by: 'alone' },
  },
  {
    when: 'the other began after it was written',
    known: { lives: [life(a, 1000, 3050), life(b, 3060, null)] },
    verdict: { kind: 'own', id: a, by: 'alone' },
  },
  {
    when: 'one keeps it open',
    known: { lives: both, openers: seen([b, 2]) },
    verdict: { kind: 'own', id: b, by: 'open' },
  },
  { when: 'one was seen with it once', known: { lives: both, openers: seen([b, 1]) }, verdict: { kind: 'unknown' } },
  {
    when: 'one was seen with it once, and has ended',
    known: { lives: [life(a, 1000, null), life(b, 1100, 4000)], openers: seen([b, 1]) },
    verdict: { kind: 'either', ids: [b, a] },
  },
  {
    when: 'one was seen with it once, and the other with one like it',
    known: { lives: both, openers: seen([b, 1]), withTheirOwn: [a] },
    verdict: { kind: 'own', id: b, by: 'open' },
  },
  {
    when: 'two have it open',
    known: { lives: both, openers: seen([a, 5], [b, 1]) },
    verdict: { kind: 'several', ids: [a, b] },
  },
  {
    when: 'one has it open that others wrote before',
    known: { born: 500, openers: seen([a, 5]) },
    verdict: { kind: 'older', ids: [a] },
  },
  {
    when: 'a later attempt of the same run has it open',
    known: { born: 500, openers: seen([a, 5]), lives: [life(a, 2000, null, 400)] },
    verdict: { kind: 'own', id: a, by: 'open' },
  },
  {
    when: 'its name has the number of a process',
    known: { lives: both, writer: b },
    verdict: { kind: 'own', id: b, by: 'name' },
  },
  {
    when: 'its name has a number that a run had long before',
    known: { lives: [life(b, 100, 1500), life(a, 1600, null)], writer: b },
    verdict: { kind: 'unknown' },
  },
  { when: 'its name has a number of nobody', known: { writer: 'other' }, verdict: { kind: 'unknown' } },
  { when: 'one alone names it', known: { lives: both, named: b }, verdict: { kind: 'own', id: b, by: 'argument' } },
  {
    when: 'one alone names it, but it was written before',
    known: { born: 100, changed: 200, lives: both, named: b },
    verdict: { kind: 'unknown' },
  },
  {
    when: 'one names it, and another has it open',
    known: { lives: both, named: b, openers: seen([a, 1]) },
    verdict: { kind: 'several', ids: [a, b] },
  },
  {
    when: 'it lies in a folder of one',
    known: { lives: both, inFolderOf: a },
    verdict: { kind: 'own', id: a, by: 'folder' },
  },
  {
    when: 'it was one’s that was alone, and another has begun since',
    known: { lives: both, owner: { id: a, by: 'alone' } },
    verdict: { kind: 'either', ids: [a, b] },
  },
  {
    when: 'it is one’s that keeps it open, and another has begun since',
    known: { lives: both, owner: { id: a, by: 'open' } },
    verdict: { kind: 'own', id: a, by: 'open' },
  },
  {
    when: 'its run has ended, and it was written to while another was up',
    known: { changed: 9000, lives: [life(a, 1000, 3000), life(b, 5000, null)], owner: { id: a, by: 'open' } },
    verdict: { kind: 'either', ids: [a, b] },
  },
  {
    when: 'its run is long forgotten, and it was written to while another was up',
    known: { changed: 9000, lives: [life(b, 5000, null)], owner: { id: a, by: 'open' } },
    verdict: { kind: 'either', ids: [a, b] },
  },
  {
    when: 'its run has ended, and another has it open',
    known: { lives: [life(b, 5000, null)], owner: { id: a, by: 'open' }, openers: seen([b, 1]) },
    verdict: { kind: 'several', ids: [b, a] },
  },
])('$when', ({ known, verdict }) => {
  expect(ownerOf(facts(known))).toEqual(verdict);
});
