import type { Scene } from './scene.js';

/** Kills again and again while all goes on. */
export type Killer = {
  /** What is killed. */
  name: string;
  /** Of all kills. */
  share: number;
  /** Kills at most one, if there is one to kill just now; gives how many were killed since it was called last. */
  strike: (scene: Scene) => number;
};

/**
 * Something else that befalls a supervisor. It is done in between, while nobody is killed, so that it can be said what came
 * of it: gives what was wrong, in words. `why`: what it cannot be done for here; null: it can.
 */
export type Trial = { name: string; why: () => string | null; undergo: (scene: Scene) => Promise<string[]> };
