/** The environment variables of a process. They are passed in, because `config` alone reads `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Takes one line that tells the user what is going on. */
export type Log = (line: string) => void;
