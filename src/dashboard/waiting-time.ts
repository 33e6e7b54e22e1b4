/** A duration in seconds as text for people: "45 seconds", "3 minutes". Minutes and hours are rounded up. */
export function waitingTime(seconds: number): string {
  if (seconds < 60) return counted(seconds, 'second');
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 60) return counted(minutes, 'minute');
  return counted(Math.ceil(seconds / 3600), 'hour');
}

function counted(count: number, unit: string): string {
  return count === 1 ? `1 ${unit}` : `${count} ${unit}s`;
}
