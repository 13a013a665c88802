import type { ReactNode } from "react";

export type Fact = [label: string, value: ReactNode, className?: string];

export function FactList({ facts, className }: { facts: Fact[]; className: string }) {
  return (
    <dl className={`flex flex-wrap gap-x-6 gap-y-1 text-sm *:flex *:gap-2 [&_dt]:text-quiet ${className}`}>
      {facts.map(([label, value, valueClass]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd className={valueClass}>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
