export type { Send, WireRequest, WireResult } from '../../../src/client/send.js';
export type { NotSentReason } from '../../../src/client/not-sent.js';
export type { DoubtReason } from '../../../src/client/outcome.js';
