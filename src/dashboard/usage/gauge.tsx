interface GaugeProps {
  /** 0 to 1. */
  readonly share: number;
  /** The class of the color. */
  readonly tone?: string;
}

/** A bar for a share of something. */
export function Gauge({ share, tone = 'blue' }: GaugeProps) {
  return (
    <svg class="share" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true" focusable="false">
      <rect class="share-all" width="100" height="4" />
      <rect class={tone} width={Math.min(100, Math.round(share * 1000) / 10)} height="4" />
    </svg>
  );
}
