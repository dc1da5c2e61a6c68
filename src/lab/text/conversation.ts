/** Conversations, and the formats that write them for a model. */
export type Message = { readonly role: 'system' | 'user' | 'assistant'; readonly content: string };

/** A part of a conversation as text. `isAnswer`: whether it is the assistant's, with its end. */
export type Piece = { readonly text: string; readonly isAnswer: boolean };

export type Renderer = {
  readonly name: string;
  /** The conversation up to the point where the assistant speaks. */
  readonly prompt: (messages: readonly Message[]) => string;
  /** A whole conversation. @param onlyLast Whether only the last answer counts as an answer; default false. */
  readonly pieces: (messages: readonly Message[], onlyLast?: boolean) => Piece[];
  /** Texts that end an answer. */
  readonly stop: readonly string[];
};
