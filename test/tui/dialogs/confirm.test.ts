import { describe, expect, it } from 'vitest';
import { aSweep } from '../simulated-fleet.js';
import { play } from './play.js';

const group = (name: string, grace?: number) => ({
  name,
  title: null,
  needs: [],
  ...(grace === undefined ? {} : { grace }),
});
const withGrace = { sweeps: [aSweep({ groups: [group('A', 30), group('B', 10)] })] };

describe('the question before a kill', () => {
  it('says what, how many, and what will happen', () => {
    expect(play(1, ['k'], withGrace).ui.dialog).toMatchObject({
      question: 'Kill A_s0?',
      detail: 'SIGTERM now, SIGKILL after 30s',
    });
    expect(play(0, ['K'], withGrace).ui.dialog).toMatchObject({ question: 'Kill 1 run of A?' });
  });

  it('promises no signal to what has no process', () => {
    expect(play(4, ['k'], withGrace).ui.dialog).toMatchObject({ question: 'Kill B_s0?', detail: null });
  });

  it('says that there is a grace period where its length is not known', () => {
    expect(play(1, ['k']).ui.dialog).toMatchObject({ detail: 'SIGTERM now, SIGKILL after the grace period' });
  });

  it.each(['y', 'enter'])('%s agrees', (key) => {
    expect(play(1, ['k', key])).toMatchObject({ order: { type: 'kill', ids: ['abcd/A_s0'] }, ui: { note: null } });
  });

  it.each([
    ['k', 'k'],
    ['K', 'K'],
    ['K', 'k'],
    ['k', 'escape'],
    ['k', 'up'],
    ['k', 'n'],
    ['k', 'q'],
  ])('%s and then %s harms nothing, and says so', (asked, key) => {
    const { ui, order } = play(1, [asked, key]);
    expect(order).toBeUndefined();
    expect(ui).toMatchObject({ dialog: { kind: 'none' }, note: { text: 'Nothing was killed.', tone: 'dim' } });
  });

  it('is answered by y alone where Enter has asked it', () => {
    expect(play(1, [':', '"kill', 'enter', 'enter']).order).toBeUndefined();
    expect(play(1, [':', '"kill', 'enter', 'y']).order).toMatchObject({ type: 'kill' });
  });
});
