/** The two streams that leave the sandbox: the service's callbacks, and the settlement provider's posts. */
export type Stream = 'callback' | 'settlement';

export interface Message {
  readonly stream: Stream;
  readonly reference: string;
  /** The status that the body tells, for people who look at deliveries. */
  readonly status: string;
  readonly url: string;
  readonly body: string;
}
