export type { Send, WireRequest, WireResult } from '../../../src/service-client/send.js';
export type { NotSentReason } from '../../../src/service-client/not-sent.js';
export type { DoubtReason } from '../../../src/service-client/errors.js';
