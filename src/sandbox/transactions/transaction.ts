/** One request that moves money, from its acceptance on. All kinds of them live in one table. */
export interface Transaction<B = unknown> {
  readonly id: string;
  /** A count, for the members `reference_number` and `referenceNumber`. */
  readonly number: number;
  /** The operation that made it. */
  readonly operation: string;
  readonly reference: string;
  /** By its lifecycle's table; the wire may have another word for it. */
  readonly status: string;
  readonly ending: string;
  readonly body: B;
  /** What was worked out when it was accepted, as decimal strings. */
  readonly figures: Readonly<Record<string, string>>;
  readonly executionId: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}
