/** The sessions of clients, the models that they train and the weights that they sample from. */
import type { MadeModel } from './computation.js';
import { Refusal } from './refusal.js';
import type { SamplerSource } from './sampler-sources.js';
import type { LoraSettings } from './parameters.js';

/** A model under training. `lora` and `base` are known before the model is made. */
export type Model = {
  readonly id: string;
  readonly session: string;
  readonly base: string;
  readonly lora: LoraSettings;
  readonly sequence: Sequence;
  /** null until the model has been made. */
  made: MadeModel | null;
};

export type Sampler = {
  readonly id: string;
  readonly session: string;
  /** Path of the saved weights; null for the base model, and for weights that are in memory alone. */
  readonly path: string | null;
  readonly source: SamplerSource;
  /** Ids of results, by the number of their request. */
  readonly known: Map<number | string, string>;
};

export type Session = {
  readonly id: string;
  readonly name: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  /** Unix ms. */
  readonly began: number;
  /** Unix ms of the last request that named the session, its models or its samplers. */
  lastSeen: number;
  /** Work done: optimizer steps, sequences that gradients were computed of or that were scored, and sequences drawn. */
  readonly done: { steps: number; trained: number; sampled: number };
  /** Models and samplers of the session, by the number that the client gave them. */
  readonly models: Map<number, Model>;
  readonly samplers: Map<number, Sampler>;
  /** Ids of the results of requests that create a model, by the model's number. */
  readonly creating: Map<number, string>;
};

const MOST_SESSIONS = 10_000;
const MOST_COPIES = 1000;

export class Sessions {
  readonly #boot: string;
  readonly #now: () => number;
  readonly #sessions = new Map<string, Session>();
  readonly #models = new Map<string, Model>();
  readonly #samplers = new Map<string, Sampler>();
  /** Ids of the models of copied weights, by the key of the request. */
  readonly #copies = new Map<string, string>();
  #copyCount = 0;
  #count = 0;

  /** @param boot Names this start of the service in all ids. @param now Unix ms. */
  constructor(boot: string, now: () => number) {
    this.#boot = boot;
    this.#now = now;
  }

  /** @throws Refusal when there are too many already. */
  begin({ name, metadata }: Pick<Session, 'name' | 'metadata'>): Session {
    if (this.#sessions.size >= MOST_SESSIONS) {
      throw new Refusal(429, `There are ${MOST_SESSIONS} sessions already; finish some, or try again later.`);
    }
    const id = `${this.#boot}-s${++this.#count}`;
    const session: Session = {
      id,
      name,
      metadata,
      began: this.#now(),
      lastSeen: this.#now(),
      done: { steps: 0, trained: 0, sampled: 0 },
      models: new Map(),
      samplers: new Map(),
      creating: new Map(),
    };
    this.#sessions.set(id, session);
    return session;
  }

  /** Name of the model that copied weights belong to: a new one, or the one of an earlier request of the same key. */
  copyId(key: string | null): string {
    const id = (key === null ? undefined : this.#copies.get(key)) ?? `${this.#boot}-copy${++this.#copyCount}:train:0`;
    if (key !== null) this.#copies.set(key, id);
    if (this.#copies.size > MOST_COPIES) this.#copies.delete([...this.#copies.keys()][0]!);
    return id;
  }

  get all(): readonly Session[] {
    return [...this.#sessions.values()];
  }

  /** Sessions whose clients have been silent for longer than `ms`. */
  idle(ms: number): readonly Session[] {
    return this.all.filter(({ lastSeen }) => this.#now() - lastSeen > ms);
  }

  /** Models in memory, of all sessions. */
  get madeModels(): number {
    return [...this.#models.values()].filter(({ made }) => made !== null).length;
  }

  session(id: string): Session {
    return this.#sessions.get(id) ?? gone('session', id);
  }

  /** The session of a request that has just come in: it does not count as idle. */
  touch(id: string): Session {
    const session = this.session(id);
    session.lastSeen = this.#now();
    return session;
  }

  model(id: string): Model {
    return this.#models.get(id) ?? gone('model', id);
  }

  sampler(id: string): Sampler {
    return this.#samplers.get(id) ?? gone('sampling session', id);
  }

  addModel(session: Session, number: number, facts: Pick<Model, 'base' | 'lora'>): Model {
    const id = `${session.id}:train:${number}`;
    const model = { ...facts, id, session: session.id, sequence: new Sequence(), made: null };
    session.models.set(number, model);
    this.#models.set(id, model);
    return model;
  }

  addSampler(session: Session, number: number, facts: Pick<Sampler, 'path' | 'source'>): Sampler {
    const id = `${session.id}:sample:${number}`;
    const sampler = { ...facts, id, session: session.id, known: new Map<number | string, string>() };
    session.samplers.set(number, sampler);
    this.#samplers.set(id, sampler);
    return sampler;
  }

  endModel({ id }: Model): void {
    this.#models.delete(id);
  }

  end(session: Session): void {
    this.#sessions.delete(session.id);
    for (const { id } of session.samplers.values()) this.#samplers.delete(id);
    for (const { id } of session.models.values()) this.#models.delete(id);
  }
}

/** The refusal for ids of ended sessions and of earlier starts of the service: the client has to begin anew. */
function gone(what: string, id: string): never {
  throw new Refusal(
    410,
    `The ${what} ${id.slice(0, 200)} has ended or never existed: begin a new session. Saved weights are kept.`,
  );
}

/** Limit of the requests that wait for an earlier, missing one. */
const MOST_AHEAD = 10_000;

/**
 * Puts the requests on one model into the order of their sequence numbers, which begin with 1: a client sends several at
 * once, and the network changes their order. A number that comes twice is the same request, sent again.
 */
class Sequence {
  /** Ids of results, by the number of their request. */
  readonly #known = new Map<number, string>();
  readonly #ahead = new Map<number, () => void>();
  #next = 1;

  /**
   * @param number null stands for a client that does not count: its request is next.
   * @param begin Called once every earlier request has begun.
   * @returns the id that `create` made, for this request or for an earlier one of the same number.
   */
  take(number: number | null, create: () => string, begin: (id: string) => void): string {
    if (number === null) {
      const id = create();
      begin(id);
      return id;
    }
    const known = this.#known.get(number);
    if (known !== undefined) return known;
    if (number > this.#next + MOST_AHEAD) {
      throw new Refusal(400, `Request ${number} came while number ${this.#next} is still awaited.`);
    }
    const id = create();
    this.#known.set(number, id);
    if (number > this.#next) this.#ahead.set(number, () => begin(id));
    else begin(id);
    if (number === this.#next) this.#release();
    this.#known.delete(number - 2 * MOST_AHEAD);
    return id;
  }

  #release(): void {
    for (this.#next++; ; this.#next++) {
      const begin = this.#ahead.get(this.#next);
      if (begin === undefined) return;
      this.#ahead.delete(this.#next);
      begin();
    }
  }
}
