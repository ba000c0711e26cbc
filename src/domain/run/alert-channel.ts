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

/**
 * The one URL by which other programs name such a channel. A configuration may give it, as the secret `url`, in the place
 * of the options that it holds.
 */
export interface PastedForm {
  /** how it is written, with words in the place of values */
  readonly form: string;
  /** the options that it may hold */
  readonly holds: readonly string[];
}

/** What a configuration says of a channel of one kind. */
export interface ChannelForm {
  readonly options: ChannelOptions;
  readonly pasted: PastedForm | undefined;
}

/** The kinds of channels that there are, by name. */
export type ChannelBook = ReadonlyMap<string, ChannelForm>;
