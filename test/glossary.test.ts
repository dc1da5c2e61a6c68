import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/** Words that an earlier version had of its own for things that have a name in the field, with that name. */
const replaced: Readonly<Record<string, string>> = {
  ...{ announcements: 'notifications', newsroom: 'notifications', discretion: 'redaction', outlook: 'publisher' },
  ...{ judgement: 'exit classification, score', jury: 'monitor', desk: 'request handler, external editor' },
  ...{ census: 'GPU accounting', surroundings: 'host config', situation: 'key context' },
  ...{ scene: 'list model', obey: 'handle, run', dossier: 'run details', surveyor: 'overview', comparer: 'comparison' },
  ...{ strand: 'series', variety: 'varying parameters', complaint: 'diagnostic', manner: 'sampling options' },
  ...{ whereabouts: 'process search', saidAtLaunch: 'launch overrides', mercy: 'kill wait' },
  ...{ goOn: 'continue', differentiate: 'accumulate the gradient', makeHaste: 'enlarge the heap' },
};

/** What a user reads, and the field says otherwise. */
const phrases = /going on\b|looked after|\bmended\b|broke off/;

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path) && !path.startsWith('lab/environments/stories/'))
  .map((path) => ({ path, text: readFileSync(join('src', path), 'utf8') }));

describe('the words of the sources', () => {
  it.each(Object.entries(replaced))('have no “%s”: it is “%s”', (word) => {
    const [initial, rest] = [word[0]!, word.slice(1)];
    // A whole word, or a part of an identifier: `externalDesk`, `deskWith`.
    const part = new RegExp(`(?<![A-Za-z])${word}s?(?![a-z])|${initial.toUpperCase()}${rest}s?(?![a-z])`);
    expect(sources.filter(({ text }) => part.test(text)).map(({ path }) => path)).toEqual([]);
  });

  it('say to a user what the field says', () => {
    const texts = sources.filter(({ text }) => phrases.test(text.replaceAll(/^\s*(?:\/\/|\*|\/\*).*$/gm, '')));
    expect(texts.map(({ path }) => path)).toEqual([]);
  });
});
