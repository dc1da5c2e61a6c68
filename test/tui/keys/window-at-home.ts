import { vi } from 'vitest';
import { openTerminal, type OpenTerminal } from '../../../scripts/terminal.js';
import type { KeyPreset } from '../../../src/tui/state/preferences-port.js';
import { codeOf, codesOf } from './keyboard.js';
import { PATIENCE_MS } from '../../patience.js';
import { isSeen, type Sight, type Use } from './use.js';

/** A window in a real terminal, started from a shell with job control, that is brought back to its first screen after each use. */
export class WindowAtHome {
  readonly terminal: OpenTerminal;
  readonly #preset: KeyPreset;
  /** The first screen, once everything on it has been read. */
  home = '';

  private constructor(terminal: OpenTerminal, preset: KeyPreset) {
    this.terminal = terminal;
    this.#preset = preset;
  }

  /** `program`: the file of the window's program. */
  static async open(program: string, preset: KeyPreset): Promise<WindowAtHome> {
    const shell = { TERM: 'xterm-256color', LANG: 'C.UTF-8', LC_ALL: undefined, NO_COLOR: undefined, CI: undefined };
    const terminal = openTerminal({
      ...{ command: 'bash', args: ['--norc', '--noprofile', '-i'], columns: 120, rows: 40 },
      environment: { ...process.env, ...shell, PS1: '$ ', WINDOW: `${process.execPath} ${program} ${preset}` },
    });
    const window = new WindowAtHome(terminal, preset);
    await window.waitFor(/^\$/m);
    terminal.write('$WINDOW\r');
    // Every curve of the chart has been read.
    await window.waitFor(/━ binary 9\.738[^]*━ B16 9\.746 {2}━ B32 9\.747/);
    window.home = window.screen();
    return window;
  }

  screen(): string {
    return this.terminal.lines().join('\n');
  }

  /** Half a frame is not looked at. */
  async waitFor(sight: Sight, ms = PATIENCE_MS): Promise<void> {
    const { emulator } = this.terminal;
    await this.terminal.waitFor(
      (rows) => !emulator.modes.synchronizedOutputMode && isSeen(sight, rows.join('\n'), this.home),
      ms,
    );
  }

  /** Presses keys, named as in the default preset. */
  press(...keys: readonly string[]): void {
    this.terminal.write(codesOf(keys, this.#preset));
  }

  /** Puts the key to this use, sees what has to be seen, and goes back. Throws where something is not as told. */
  async use(key: string, { from = [], at, spoiledBy, sees, answer, back = [] }: Use): Promise<void> {
    this.press(...from);
    if (spoiledBy !== undefined) {
      // A Ctrl-L of the way back may still be on its way.
      await this.#quiet();
      await new Promise<void>((done) => this.terminal.emulator.write(spoiledBy, done));
    }
    if (at !== undefined) await this.waitFor(at);
    for (const sight of typeof sees === 'function' ? sees(key) : sees) {
      if (isSeen(sight, this.screen(), this.home)) {
        throw new Error(`Seen before ${key} was pressed: ${String(sight)}\n${this.screen()}`);
      }
      this.terminal.write(codeOf(key));
      await this.waitFor(sight);
    }
    if (answer !== undefined) {
      this.press(answer.key);
      await this.waitFor(answer.sees);
    }
    await this.goBack(back);
  }

  /** Until nothing has been drawn for a while: the clock of this window stands still. */
  async #quiet(): Promise<void> {
    let bytes = -1;
    await vi.waitUntil(() => bytes === (bytes = this.terminal.bytes), { interval: 250, timeout: PATIENCE_MS });
  }

  /** Ctrl-L takes away what was said; an answer may come after it. */
  async goBack(keys: readonly string[]): Promise<void> {
    this.press(...keys);
    const isBack: Sight = (screen, home) => screen === home;
    for (let time = 1; time <= 30; time++) {
      this.press('ctrl-l');
      if (await this.waitFor(isBack, 100 * time).then(yes, no)) return;
    }
    throw new Error(`Not back on the first screen:\n${this.screen()}`);
  }
}

const yes = (): boolean => true;
const no = (): boolean => false;
