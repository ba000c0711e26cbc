/** An option of a kind of channel, as a configuration gives it: a text in the file, or a secret by reference. */
export interface ChannelOption {
  /** what it is, for people who write a configuration */
  readonly description: string;
  /** it is never in the file itself: the file says where it is */
  readonly isSecret: boolean;
  readonly isOptional: boolean;
  /** a text as it may stand in the file; a secret has none */
  readonly example: string | undefined;
  /** What is wrong with a value, as the end of a sentence that begins with its place; undefined: nothing. */
  problem(value: string): string | undefined;
}

/** The options of one kind, by their names in the file. */
export type ChannelOptions = Readonly<Record<string, ChannelOption>>;

/** The kinds of channels that there are, by name, with their options. */
export type ChannelBook = ReadonlyMap<string, ChannelOptions>;
