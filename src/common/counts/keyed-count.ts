/** Counts what each key uses, and what all keys use together. A key without use takes no memory. */
export class KeyedCount {
  private readonly byKey = new Map<string, number>();
  private sum = 0;

  get total(): number {
    return this.sum;
  }

  of(key: string): number {
    return this.byKey.get(key) ?? 0;
  }

  /** @param amount negative to take back what was added. */
  add(key: string, amount: number): void {
    const count = this.of(key) + amount;
    if (count === 0) this.byKey.delete(key);
    else this.byKey.set(key, count);
    this.sum += amount;
  }
}
