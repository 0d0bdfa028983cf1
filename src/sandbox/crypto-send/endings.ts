/** "Status values of … onramp-crypto … records: not shown": the three words of DepositStatus. */
export type SendStatus = 'PENDING' | 'SUCCESSFUL' | 'FAILED';

export interface SendScript {
  readonly story: string;
  /** Where the send goes by itself, one step after it arrived in the status on the left. */
  readonly next: Partial<Readonly<Record<SendStatus, SendStatus>>>;
  readonly slow?: boolean;
  readonly refuses?: 'transaction-failed' | 'insufficient-funds';
}

const completed = {
  story: 'arrives at the receiver',
  next: { PENDING: 'SUCCESSFUL' },
} as const satisfies SendScript;

/** Every way a crypto send can go, as data. */
export const SEND_ENDINGS = {
  completed,
  failed: { story: 'fails on the chain; the wallet gets it back', next: { PENDING: 'FAILED' } },
  never: { story: 'stays PENDING for ever', next: {} },
  slow: { ...completed, story: 'as completed, twenty times as slow', slow: true },
  rejected: { ...completed, story: 'refused with 400 TRANSACTION_FAILED', refuses: 'transaction-failed' },
  'insufficient-funds': { ...completed, story: 'refused with 400 "Insufficient Funds"', refuses: 'insufficient-funds' },
} as const satisfies Record<string, SendScript>;

export type SendEnding = keyof typeof SEND_ENDINGS;
export const sendEndings = Object.keys(SEND_ENDINGS) as [SendEnding, ...SendEnding[]];
export const sendScriptOf = (ending: SendEnding): SendScript => SEND_ENDINGS[ending];

/** The two decimals of `cryptoAmount` choose the ending, where no scenario was set for the reference. */
export const SEND_MAGIC_AMOUNTS: Readonly<Record<string, SendEnding>> = {
  '.13': 'failed',
  '.17': 'never',
  '.19': 'slow',
  '.41': 'rejected',
  '.42': 'insufficient-funds',
};

/** Time moves a send only from the status that it was set for. Pure. */
export const advanceSend = (script: SendScript, status: SendStatus, from: SendStatus): SendStatus | undefined =>
  from === status ? script.next[status] : undefined;
