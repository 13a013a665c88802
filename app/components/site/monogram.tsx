import { useIsLite } from "./art";

type Shape = keyof typeof shapes;

export function Monogram({ letters, shape, className }: { letters: string; shape: Shape; className: string }) {
  if (useIsLite()) return null;
  const { width, height, centre, fontSize } = shapes[shape];
  return (
    <svg viewBox={`0 0 ${width} ${height}`} width={width} height={height} aria-hidden="true" className={className}>
      <use href={`/art/mark-${shape}.svg#art`} />
      <text
        x={width / 2}
        y={centre + fontSize(letters) * 0.36}
        textAnchor="middle"
        fontSize={fontSize(letters)}
        fontWeight="700"
        letterSpacing=".5"
        className="fill-ink"
      >
        {letters}
      </text>
    </svg>
  );
}

const shapes = {
  container: { width: 112, height: 56, centre: 27, fontSize: () => 19 },
  seal: { width: 80, height: 80, centre: 39, fontSize: (letters: string) => (letters.length > 4 ? 14 : 19) },
  pass: { width: 72, height: 92, centre: 46, fontSize: () => 24 },
};

export function initials(name: string): string {
  const words = name.split(/\s+/).filter(Boolean);
  return [words[0], words.length > 1 ? words.at(-1) : ""].map((word) => word?.charAt(0).toUpperCase() ?? "").join("");
}
