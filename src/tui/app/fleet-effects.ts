import { errorText } from '../../base/user-error.js';
import { cleanText } from '../../text/display-text.js';
import { doingWords, type RunOrder } from '../../protocol/run-verbs.js';
import type { Effect, FleetEffect, Note, RunEffect } from '../state/ui-state.js';
import type { Ack, FleetPort } from '../state/port.js';

/** Sends requests to the supervisor. Shows a note when each is sent and when it is answered. */
export class FleetEffects {
  readonly #fleet: FleetPort;
  readonly #say: (note: Note) => void;
  readonly #pending = new Set<string>();
  /**
   * Requested number of CPU slots not yet reported; null: none. The report may come after the answer, and another key before both.
   */
  #slots: number | null = null;

  constructor(fleet: FleetPort, say: (note: Note) => void) {
    this.#fleet = fleet;
    this.#say = say;
  }

  /** Requests that are not answered yet, in words, oldest first. */
  get pending(): readonly string[] {
    return [...this.#pending];
  }

  /** Sends a request; resolves when it is answered, successfully or not. */
  async send(order: FleetEffect): Promise<void> {
    const doing = `${doingOf(order)} …`;
    this.#pending.add(doing);
    this.#say({ text: doing, tone: 'dim' });
    try {
      const ack = await this.#ask(order);
      this.#pending.delete(doing);
      this.#say(answerNote(ack, 'undo' in order ? order.undo : undefined));
    } catch (error) {
      this.#pending.delete(doing);
      const text = `${order.type} did not reach the supervisor: ${errorText(error)}`;
      this.#say({ text: cleanText(text), tone: 'bad' });
    }
  }

  #ask(order: FleetEffect): Promise<Ack> {
    switch (order.type) {
      case 'more-slots':
        return this.#moreSlots(order.by);
      case 'set-slots':
        return this.#fleet.request({ verb: 'set-slots', slots: order.wish });
      case 'drain':
        return this.#fleet.request({ verb: 'drain', gpus: [...order.gpus], drained: order.drained });
      case 'stop-sweep':
        return this.#fleet.request({ verb: 'stop-sweep', sweep: order.sweep });
      case 'annotate':
        return this.#fleet.request({ verb: 'annotate', ids: [...order.ids], change: order.change });
      default:
        return this.#fleet.act(runOrder(order), order.ids);
    }
  }

  async #moreSlots(by: number): Promise<Ack> {
    const slots = Math.max(0, (this.#slots ?? this.#fleet.status.cpu.slots) + by);
    this.#slots = slots;
    const ack = await this.#fleet.request({ verb: 'set-slots', slots: { slots } });
    if (this.#slots === slots) this.#slots = null;
    if (!ack.ok) return ack;
    const what = slots === 1 ? '1 slot' : `${slots} slots`;
    const busy = this.#fleet.status.cpu.busy;
    const rest = slots === 0 ? '; no new runs start, + adds one' : by < 0 && busy > slots ? busyStays(busy) : '';
    return { ok: true, message: `${what} now${rest}` };
  }
}

function busyStays(busy: number): string {
  return `; the ${busy} runs that hold one keep it until they end`;
}

/** Whether an effect is a request to the supervisor. */
export function isFleetEffect(order: Effect): order is FleetEffect {
  return 'ids' in order || fleetOrders.has(order.type);
}

const fleetOrders: ReadonlySet<Effect['type']> = new Set(['more-slots', 'set-slots', 'drain', 'stop-sweep']);

function runOrder(effect: RunEffect): RunOrder {
  if (effect.type === 'priority') return { verb: effect.type, priority: effect.priority };
  return effect.type === 'type' ? { verb: effect.type, text: effect.text } : { verb: effect.type };
}

function doingOf(order: FleetEffect): string {
  switch (order.type) {
    case 'more-slots':
      return order.by > 0 ? 'Adding a slot' : 'Removing a slot';
    case 'set-slots':
      return 'Changing the slots';
    case 'drain':
      return `${order.drained ? 'Draining' : 'Undraining'} GPU ${order.gpus.join(', ')}`;
    case 'stop-sweep':
      return `Stopping ${order.sweep}`;
    case 'annotate':
      return order.doing;
    default:
      return doingWords(runOrder(order), order.what);
  }
}

/** The note for an answer. `undo`: what would undo the request. */
function answerNote(ack: Ack, undo: string | undefined): Note {
  if (ack.ok) return { text: cleanText(undo === undefined ? ack.message : `${ack.message} · ${undo}`), tone: 'good' };
  return { text: cleanText(ack.fix === null ? ack.message : `${ack.message} → ${ack.fix}`), tone: 'bad' };
}
