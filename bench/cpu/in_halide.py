"""The stencils as one writes them in Halide: a function from image parameters to the last stage, with a schedule for CPUs. box_blur has the
algorithm and the schedule of Halide's own blur example. Image coordinates are (x, y), x along rows."""

import halide as hl

VECTOR = 16  # elements of 32 bits; what the example takes for 16 bits too
ROWS = 32  # of the result in a task, as in the example
STRIP, TALL = 512, 128  # columns and rows of a task of the longer chains: the fastest of twelve pairs, in turns


def variables():
    return hl.Var("x"), hl.Var("y"), hl.Var("yi")


def number(value):
    return hl.f32(value)


class Image:
    """An image with zeros around it, and the stages that are kept of the rows around the one at hand."""

    def __init__(self, parameter):
        self.width, self.height = (parameter.dim(d).extent() for d in range(2))
        # A stage as well, so that only what copies a row into it asks where the image ends.
        self.source = hl.BoundaryConditions.constant_exterior(parameter, 0)
        self.stages = [self.source]

    def keep(self, name, x, y, value):
        """Zero where there is no image."""
        stage = hl.Func(name)
        inside = (x >= 0) & (x < self.width) & (y >= 0) & (y < self.height)
        stage[x, y] = hl.select(inside, value, number(0))
        self.stages.append(stage)
        return stage

    def in_strips(self, out, x, y, yi, width=STRIP, rows=TALL):
        """Down the rows of one strip of columns after the other; of every stage only what the next rows need is kept."""
        xo, xi = hl.Var("xo"), hl.Var("xi")
        out.split(y, y, yi, rows).split(x, xo, xi, width).reorder(xi, yi, xo, y).parallel(y).vectorize(xi, VECTOR)
        for stage in self.stages:
            stage.store_at(out, xo).compute_at(out, yi).vectorize(stage.args()[0], VECTOR)
        return out


def three(f, x, y):
    return f[x - 1, y] + f[x, y] + f[x + 1, y]


def separable(p, divide):
    """The example of Halide: results where the whole window lies inside of the image."""
    x, y, yi = variables()
    across, out = hl.Func("across"), hl.Func("out")
    across[x, y] = divide(p[x, y] + p[x + 1, y] + p[x + 2, y])
    out[x, y] = divide(across[x, y] + across[x, y + 1] + across[x, y + 2])
    out.split(y, y, yi, ROWS).parallel(y).vectorize(x, VECTOR)
    across.store_at(out, y).compute_at(out, x).vectorize(x, VECTOR)
    return out


def box_blur(p):
    return separable(p, lambda sum: sum * number(1 / 3))


def box_blur_u16(p):
    return separable(p, lambda sum: sum / hl.u16(3))


def blur(p):
    x, y, yi = variables()
    image, out = Image(p), hl.Func("out")
    across = hl.Func("across")
    across[x, y] = three(image.source, x, y)
    image.stages.append(across)
    out[x, y] = (across[x, y - 1] + across[x, y] + across[x, y + 1]) * number(1 / 9)
    return image.in_strips(out, x, y, yi)


def blur_sobel(p):
    x, y, yi = variables()
    image, across, out = Image(p), hl.Func("across"), hl.Func("out")
    across[x, y] = three(image.source, x, y)
    image.stages.append(across)
    b = image.keep("blurred", x, y, (across[x, y - 1] + across[x, y] + across[x, y + 1]) * number(1 / 9))
    gx = b[x + 1, y - 1] - b[x - 1, y - 1] + number(2) * (b[x + 1, y] - b[x - 1, y]) + b[x + 1, y + 1] - b[x - 1, y + 1]
    above, below = [b[x - 1, row] + number(2) * b[x, row] + b[x + 1, row] for row in (y - 1, y + 1)]
    gy = below - above
    out[x, y] = hl.max(hl.sqrt(gx * gx + gy * gy) - number(0.05), number(0))
    return image.in_strips(out, x, y, yi)


def heat5(p):
    x, y, yi = variables()
    image, out = Image(p), hl.Func("out")

    def step(u):
        return number(0.6) * u[x, y] + number(0.1) * (u[x, y - 1] + u[x, y + 1] + u[x - 1, y] + u[x + 1, y])

    u = image.source
    for i in range(4):
        u = image.keep(f"u{i}", x, y, step(u))
    out[x, y] = step(u)
    return image.in_strips(out, x, y, yi)


def diffusion3d(p):
    x, y, z = (hl.Var(name) for name in "xyz")
    u, out = hl.BoundaryConditions.constant_exterior(p, 0), hl.Func("out")
    around = u[x, y, z - 1] + u[x, y, z + 1] + u[x, y - 1, z] + u[x, y + 1, z] + u[x - 1, y, z] + u[x + 1, y, z]
    out[x, y, z] = number(0.4) * u[x, y, z] + number(0.1) * around
    return out.parallel(z).vectorize(x, VECTOR)
