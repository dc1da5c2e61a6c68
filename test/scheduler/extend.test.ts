import { describe, expect, it } from 'vitest';
import { after, asked, ended, endedAs, id, launched, play, short, slots, started, submitted, time } from './play.js';

const grown = (graceMs = 5) => ({
  ...submitted([{ name: 'a', wish: 'extend', attempts: 1, graceMs }]),
  plan: 'larger',
});
const up = [slots(1), submitted(['a']), started('a')];

describe('a run whose budget is raised while it is up', () => {
  it('keeps its terms until its attempt is done, and goes on by the new ones', () => {
    expect(after('a', ...up, grown())).toMatchObject({ plan: 'p', next: { plan: 'larger', graceMs: 5 } });
    const { state, actions } = play(...up, grown(), ended('a'), time(10));
    expect(state.runs.get(id('a'))).toMatchObject({ plan: 'larger', graceMs: 5, next: null, attempt: 2 });
    expect(short(actions)).toEqual(['launch a', 'launch a']);
  });

  it('remembers when each of its attempts was up', () => {
    const timed = [slots(1), submitted(['a']), { ...started('a'), at: 100 }, grown(), { ...ended('a'), at: 150 }];
    expect(after('a', ...timed)).toMatchObject({ past: [[100, 150]] });
    const again = [...timed, time(160), { ...started('a', 2), at: 200 }];
    expect(after('a', ...again)).toMatchObject({ past: [[100, 150]], state: { phase: 'running', since: 200 } });
    expect(after('a', ...again, { ...ended('a', 'done', 2), at: 230 })).toMatchObject({
      past: [
        [100, 150],
        [200, 230],
      ],
    });
  });

  it('is not done in between: who needs its group waits', () => {
    const events = [slots(1), submitted([{ name: 'a', group: 'g' }, 'b'], { main: ['g'] }), started('a')];
    const more = {
      ...submitted([{ name: 'a', group: 'g', wish: 'extend', attempts: 1 }], { main: ['g'] }),
      plan: 'larger',
    };
    expect(launched(play(...events, more, ended('a'), time(10)).actions)).toEqual(['a', 'a']);
  });

  it.each([
    { end: 'fails', outcome: { kind: 'failed', code: 1 } as const, phase: 'ended' },
    { end: 'is ended by a rule', outcome: { kind: 'done', rule: 'x > 1' } as const, phase: 'ended' },
  ])('stays ended where its attempt $end, and has the new terms from then on', ({ outcome, phase }) => {
    const run = after('a', ...up, grown(), endedAs('a', outcome), time(10));
    expect(run).toMatchObject({ plan: 'larger', next: null, attempt: 1, state: { phase } });
  });

  it('does not go on where the file takes the larger budget back before its attempt has ended', () => {
    const taken = submitted([{ name: 'a', wish: 'unextend', attempts: 1 }]);
    expect(after('a', ...up, grown(), taken)).toMatchObject({ plan: 'p', next: null, state: { phase: 'running' } });
    const run = after('a', ...up, grown(), taken, ended('a'), time(10));
    expect(run).toMatchObject({ plan: 'p', attempt: 1, state: { phase: 'ended', outcome: { kind: 'done' } } });
  });

  it('stays killed when a person ended it', () => {
    const run = after('a', ...up, grown(), asked('stop', 'a'), ended('a'), time(10));
    expect(run).toMatchObject({ plan: 'larger', next: null, state: { phase: 'ended', outcome: { kind: 'killed' } } });
  });
});

describe('a run that is up though nobody knew of it', () => {
  const found = (...names: string[]) => submitted(names.map((name) => ({ name, wish: 'adopt', attempts: 3 })));

  it('is taken over at once, whatever room there is, and is not taken for a new start', () => {
    const { actions, state } = play(slots(1), found('a', 'b', 'c'));
    expect(actions).toMatchObject(Array(3).fill({ type: 'launch', attempt: 4, isUp: true }));
    expect([...state.cpu.holders.keys()]).toEqual([0, 1, 2]);
  });

  it('leaves no room for others until it ends', () => {
    const events = [slots(1), found('a'), started('a', 4), { ...submitted(['b']), at: 2 }];
    expect(launched(play(...events).actions)).toEqual(['a']);
    expect(launched(play(...events, ended('a', 'done', 4)).actions)).toEqual(['a', 'b']);
  });
});
