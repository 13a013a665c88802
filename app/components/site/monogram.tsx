import { useIsLite } from "./art";

type Shape = keyof typeof shapes;

/**
 * A mark of ours that stands in for a logo, a certificate or a portrait: letters on a container, in a seal or on a
 * pass. Decoration: the name it stands for is written beside it.
 */
export function Monogram({ letters, shape, className }: { letters: string; shape: Shape; className: string }) {
  if (useIsLite()) return null;
  const { width, height, centre, fontSize, drawing } = shapes[shape];
  return (
    <svg
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      aria-hidden="true"
      fill="none"
      className={className}
    >
      {drawing}
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
  container: {
    width: 112,
    height: 56,
    centre: 27,
    fontSize: () => 19,
    drawing: (
      <>
        <path d="M1 1h110v50H1z" className="fill-raised stroke-edge" strokeWidth="1.5" />
        <path d="M8 8v36m6-36v36m6-36v36m72-36v36m6-36v36m6-36v36" className="stroke-line" strokeWidth="2" />
        <path d="M1 1h7v6H1zm103 0h7v6h-7zM1 45h7v6H1zm103 0h7v6h-7zM4 51v4m104-4v4" className="fill-edge" />
        <path d="M28 42h56" className="stroke-action" strokeWidth="2" />
      </>
    ),
  },
  seal: {
    width: 80,
    height: 80,
    centre: 39,
    fontSize: (letters: string) => (letters.length > 4 ? 14 : 19),
    drawing: (
      <>
        <circle cx="40" cy="40" r="36" className="stroke-edge" strokeWidth="5" strokeDasharray="3.5 2.784" />
        <circle cx="40" cy="40" r="33" className="fill-raised stroke-edge" strokeWidth="1.5" />
        <path d="M22 54h36" className="stroke-action" strokeWidth="2" />
        <path d="M29 54h0m11 0h0m11 0h0" className="stroke-action" strokeWidth="7" strokeLinecap="round" />
      </>
    ),
  },
  pass: {
    width: 72,
    height: 92,
    centre: 46,
    fontSize: () => 24,
    drawing: (
      <>
        <path d="M1 1h70v90H1z" className="fill-raised stroke-edge" strokeWidth="1.5" />
        <path d="M28 11h16" className="stroke-edge" strokeWidth="5" strokeLinecap="round" />
        <path d="M14 66l14-4 16 8 14-6" className="stroke-action" strokeWidth="2" strokeLinejoin="round" />
        <path d="M14 80h28" className="stroke-line" strokeWidth="3" />
      </>
    ),
  },
};

/** The first letters of a person's first and last name. */
export function initials(name: string): string {
  const words = name.split(/\s+/).filter(Boolean);
  return [words[0], words.length > 1 ? words.at(-1) : ""].map((word) => word?.charAt(0).toUpperCase() ?? "").join("");
}
