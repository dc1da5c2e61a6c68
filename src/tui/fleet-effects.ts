import { errorText } from '../base/user-error.js';
import { cleanText } from '../text/display-text.js';
import type { Effect, FleetEffect, RunVerb } from './effect.js';
import type { Ack, FleetPort } from './port.js';
import type { Note } from './ui-state.js';

/** Sends orders to the supervisor; says each when it is sent, and again when it is answered. */
export class FleetEffects {
  readonly #fleet: FleetPort;
  readonly #say: (note: Note) => void;
  readonly #pending = new Set<string>();
  /** CPU slots that were asked for and are not there yet: the news may come after the answer, and a key after neither. */
  #slots: number | null = null;

  constructor(fleet: FleetPort, say: (note: Note) => void) {
    this.#fleet = fleet;
    this.#say = say;
  }

  /** What was asked and is not answered yet, in words, oldest first. */
  get pending(): readonly string[] {
    return [...this.#pending];
  }

  /** Resolves when it was answered, well or not. */
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
      case 'priority':
        return this.#fleet.priority(order.ids, order.priority);
      case 'more-slots':
        return this.#moreSlots(order.by);
      case 'set-slots':
        return this.#fleet.setSlots(order.wish);
      case 'drain':
        return this.#fleet.drain(order.gpus, order.drained);
      case 'stop-sweep':
        return this.#fleet.stopSweep(order.sweep);
      default:
        return this.#fleet[order.type](order.ids);
    }
  }

  async #moreSlots(by: number): Promise<Ack> {
    const slots = Math.max(0, (this.#slots ?? this.#fleet.status.cpu.slots) + by);
    this.#slots = slots;
    const ack = await this.#fleet.setSlots({ slots });
    if (this.#slots === slots) this.#slots = null;
    if (!ack.ok) return ack;
    const what = slots === 1 ? '1 slot' : `${slots} slots`;
    const busy = this.#fleet.status.cpu.busy;
    const rest = slots === 0 ? '; nothing new starts, + gives one back' : by < 0 && busy > slots ? busyStays(busy) : '';
    return { ok: true, message: `${what} now${rest}` };
  }
}

function busyStays(busy: number): string {
  return `; the ${busy} runs that have one keep it until they end`;
}

/** Whether an order goes to the supervisor. */
export function isFleetEffect(order: Effect): order is FleetEffect {
  return 'ids' in order || fleetOrders.has(order.type);
}

const fleetOrders: ReadonlySet<Effect['type']> = new Set(['more-slots', 'set-slots', 'drain', 'stop-sweep']);

const doing: Record<RunVerb, string> = {
  kill: 'Stopping',
  resume: 'Resuming',
  retry: 'Trying again',
  hold: 'Holding',
  release: 'Releasing',
  pause: 'Pausing',
  continue: 'Continuing',
};

function doingOf(order: FleetEffect): string {
  switch (order.type) {
    case 'priority':
      return `Giving ${order.what} priority ${order.priority}`;
    case 'more-slots':
      return order.by > 0 ? 'One slot more' : 'One slot fewer';
    case 'set-slots':
      return 'Changing the slots';
    case 'drain':
      return `${order.drained ? 'Draining' : 'Refilling'} GPU ${order.gpus.join(', ')}`;
    case 'stop-sweep':
      return `Stopping ${order.sweep}`;
    default:
      return `${doing[order.type]} ${order.what}`;
  }
}

/** `undo`: what undoes it, if it was done. */
function answerNote(ack: Ack, undo: string | undefined): Note {
  if (ack.ok) return { text: cleanText(undo === undefined ? ack.message : `${ack.message} · ${undo}`), tone: 'good' };
  return { text: cleanText(ack.fix === null ? ack.message : `${ack.message} → ${ack.fix}`), tone: 'bad' };
}
