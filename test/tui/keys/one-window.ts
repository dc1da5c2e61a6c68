import type { KeyPreset } from '../../../src/tui/state/preferences-port.js';
import type { Use } from './use.js';
import { WindowAtHome } from './window-at-home.js';

/** One window for many keys, and a new one after a failure, which may have left it anywhere. */
export class OneWindow {
  readonly #preset: KeyPreset;
  #window: WindowAtHome | null = null;

  constructor(preset: KeyPreset) {
    this.#preset = preset;
  }

  async use(program: string, key: string, uses: readonly Use[]): Promise<void> {
    this.#window ??= await WindowAtHome.open(program, this.#preset);
    try {
      for (const use of uses) await this.#window.use(key, use);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  close(): void {
    this.#window?.terminal.close();
    this.#window = null;
  }
}
